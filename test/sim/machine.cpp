// The simulated machine. See machine.h.
//
// SimGrid has the clock, the actors and the sharing of bandwidth: a copy is a flow out of the memory
// of one NUMA node into a core, and one out of the core into the memory of another, each through the
// links on its way. Lines of flags are too short for flows: each has its time by distance, and its
// fetches follow each other.

#include "machine.h"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {
struct nc_atomic;
void nc_observe_load(const struct nc_atomic *a);
void nc_observe_store(const struct nc_atomic *a);
void nc_observe_demote(const void *line);
bool nc_observe_copy(void *to, const void *from, size_t n);
}

namespace sg4 = simgrid::s4u;

namespace {

struct Line {
    uint64_t times = 0; // it has been written
    int writer = -1, chain = 0;
    double written = 0, free = 0; // when it was written; when its last fetch is over
    std::vector<std::pair<int, uint64_t>> seen; // rank, `times` when it read the line last
    std::vector<int> watchers;
};

struct Rank {
    int numa = 0, chain = 0;
    bool blocked = false;
    bool waited = false; // since it read a line
    double burst = 0;    // since when it has done nothing but read lines that were there
    double asks = 0;     // when it can ask for another line
    uint64_t read = 0;
    std::vector<uintptr_t> watched; // lines that it has read since it last waited
    sg4::SemaphorePtr wake;
    sg4::Host *core = nullptr;
};

struct World {
    const sim_machine *machine;
    sim_memory memory;
    int ranks;
    std::vector<Rank> rank;
    std::vector<sg4::Host *> node; // the memory of each NUMA node
    std::unordered_map<uintptr_t, Line> lines;
    sim_cost cost;
    int me; // the actor that runs
};

World *world;

enum { LINE = 64, LEAST_FLOW = 2048 }; // bytes
enum { OUTSTANDING = 10 };             // lines that a core fetches at a time
constexpr double SCALE = 1e6; // SimGrid's seconds are microseconds here: it rounds times

int distance(int a, int b)
{
    return a == b ? 0 : a / world->machine->numa_nodes == b / world->machine->numa_nodes ? 1 : 2;
}

double seconds()
{
    return sg4::Engine::get_clock() / SCALE;
}

void sleep_for(double seconds)
{
    int me = world->me;

    sg4::this_actor::sleep_for(seconds * SCALE);
    world->me = me;
}

uint64_t &seen_by(Line &line, int rank)
{
    for (auto &s : line.seen)
        if (s.first == rank)
            return s.second;
    line.seen.emplace_back(rank, 0);
    return line.seen.back().second;
}

bool is_shared(const void *at)
{
    uintptr_t offset = (uintptr_t) at - (uintptr_t) world->memory.shared;

    return offset < world->memory.shared_bytes * (size_t) world->ranks;
}

// The NUMA node that has this memory.
int numa_of(const void *at)
{
    uintptr_t shared = (uintptr_t) at - (uintptr_t) world->memory.shared,
              user = (uintptr_t) at - (uintptr_t) world->memory.user;

    if (shared < world->memory.shared_bytes * (size_t) world->ranks)
        return world->rank[shared / world->memory.shared_bytes].numa;
    if (user < world->memory.user_bytes * (size_t) world->ranks)
        return world->rank[user / world->memory.user_bytes].numa;
    return world->rank[world->me].numa; // its stack
}

// A core reads n bytes of each of `from`, and writes as many to `to`.
void move(void *to, std::initializer_list<const void *> from, size_t n)
{
    Rank &r = world->rank[world->me];
    int me = world->me, there = numa_of(to);

    for (const void *f : from) {
        if (is_shared(f))
            r.read += n;
        if (numa_of(f) != r.numa)
            world->cost.bytes_crossed += n;
    }
    if (there != r.numa)
        world->cost.bytes_crossed += n;
    if (n < LEAST_FLOW) {
        double far = 0;
        for (const void *f : from)
            far = std::max(far, world->machine->line[distance(numa_of(f), r.numa)]);
        sleep_for((double) (n * from.size()) / world->machine->copy + (n > LINE ? far : 0));
        r.burst = seconds();
        return;
    }
    std::vector<sg4::CommPtr> flows;
    for (const void *f : from)
        flows.push_back(sg4::Comm::sendto_async(world->node[(size_t) numa_of(f)], r.core, n));
    flows.push_back(sg4::Comm::sendto_async(r.core, world->node[(size_t) there], n));
    sg4::Comm::wait_all(flows);
    world->me = me;
    r.burst = seconds();
}

std::string name(const char *what, int i)
{
    return what + std::to_string(i);
}

const sg4::Link *link_of(sg4::NetZone *zone, const std::string &name, double bandwidth)
{
    return zone->create_link(name, bandwidth / SCALE)->set_latency(0)->seal();
}

// Hosts for the memory of each NUMA node and each core; a path between each memory and each core.
void make_platform(const sim_machine *m, int by_node)
{
    auto *zone = sg4::create_full_zone("machine");
    int nodes = m->packages * m->numa_nodes;
    std::vector<const sg4::Link *> bank, reads, writes;

    for (int i = 0; i < nodes; i++) {
        world->node.push_back(zone->create_host(name("memory", i), 1));
        bank.push_back(link_of(zone, name("bank", i), m->memory));
    }
    for (int r = 0; r < world->ranks; r++) {
        world->rank[(size_t) r].core = zone->create_host(name("core", r), 1);
        reads.push_back(link_of(zone, name("reads", r), m->copy));
        writes.push_back(link_of(zone, name("writes", r), m->copy));
    }
    std::vector<const sg4::Link *> between((size_t) (nodes * nodes));
    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < nodes; b++)
            if (a != b)
                between[(size_t) (a * nodes + b)] =
                    link_of(zone, name("between", a * nodes + b), m->link[distance(a, b) - 1]);
    for (int r = 0; r < world->ranks; r++) {
        int here = sim_numa(m, by_node, r);
        auto *core = world->rank[(size_t) r].core->get_netpoint();
        for (int n = 0; n < nodes; n++) {
            auto *memory = world->node[(size_t) n]->get_netpoint();
            std::vector<sg4::LinkInRoute> in{sg4::LinkInRoute(bank[(size_t) n])}, out;
            if (n != here)
                in.emplace_back(between[(size_t) (n * nodes + here)]);
            in.emplace_back(reads[(size_t) r]);
            out.emplace_back(writes[(size_t) r]);
            if (n != here)
                out.emplace_back(between[(size_t) (here * nodes + n)]);
            out.emplace_back(bank[(size_t) n]);
            zone->add_route(memory, core, nullptr, nullptr, in, false);
            zone->add_route(core, memory, nullptr, nullptr, out, false);
        }
    }
    zone->seal();
}

} // namespace

int sim_numa(const struct sim_machine *m, int by_node, int rank)
{
    int nodes = m->packages * m->numa_nodes;

    return by_node ? rank % nodes : rank / m->cores;
}

void nc_observe_load(const struct nc_atomic *a)
{
    int me = world->me;
    uintptr_t at = (uintptr_t) a / LINE;
    Line &line = world->lines[at];
    Rank &r = world->rank[(size_t) me];

    r.watched.push_back(at);
    if (line.writer < 0 || line.writer == me || seen_by(line, me) == line.times)
        return;
    // A core asks for the next line before the one before is here, as long as it need not wait.
    int d = distance(world->rank[(size_t) line.writer].numa, r.numa);
    double now = seconds(), asked = std::max({r.burst, r.asks, line.written, line.free}),
           here = std::max(now, asked + world->machine->line[d]);

    seen_by(line, me) = line.times;
    r.asks = asked + world->machine->line[d] / OUTSTANDING;
    line.free = asked + world->machine->turn;
    world->cost.lines_crossed += d > 0;
    r.chain = std::max(r.chain, line.chain + (d > 0));
    sleep_for(here - now);
    if (r.waited)
        r.burst = here;
    r.waited = false;
}

void nc_observe_store(const struct nc_atomic *a)
{
    Line &line = world->lines[(uintptr_t) a / LINE];
    std::vector<int> watchers;

    world->rank[(size_t) world->me].burst = line.written = seconds();
    line.times++;
    line.writer = world->me;
    line.chain = world->rank[(size_t) world->me].chain;
    seen_by(line, world->me) = line.times;
    int me = world->me;

    watchers.swap(line.watchers);
    for (int w : watchers) {
        Rank &r = world->rank[(size_t) w];
        if (r.blocked) {
            r.blocked = false;
            r.wake->release(); // other actors may run here, but not read the line to its end
            world->me = me;
        }
    }
}

/* No algorithm of a simulated machine demotes. */
void nc_observe_demote(const void *line)
{
    (void) line;
}

bool nc_observe_copy(void *to, const void *from, size_t n)
{
    if (n > 0)
        move(to, {from}, n);
    return true;
}

void sim_combine(void *result, const void *a, const void *b, size_t n)
{
    // what is combined into itself was there a moment ago, in the core's cache
    if (result == a)
        move(result, {b}, n * sizeof(double));
    else if (result == b)
        move(result, {a}, n * sizeof(double));
    else
        move(result, {a, b}, n * sizeof(double));
}

int sim_wait(void *)
{
    int me = world->me;
    Rank &r = world->rank[(size_t) me];
    std::vector<uintptr_t> watched;

    watched.swap(r.watched);
    for (uintptr_t at : watched) {
        Line &line = world->lines[at];
        if (line.writer >= 0 && line.writer != me && seen_by(line, me) != line.times)
            return 0;
    }
    for (uintptr_t at : watched)
        world->lines[at].watchers.push_back(me);
    r.blocked = true;
    r.wake->acquire();
    world->me = me;
    r.waited = true;
    return 0;
}

bool sim_run(const struct sim_machine *machine, int ranks, int by_node, int rounds,
                        const struct sim_memory *memory, void (*main)(void *context, int rank),
                        void *context, struct sim_cost *cost)
{
    static int arguments = 2;
    static char program[] = "simulate", quiet[] = "--log=root.thres:critical",
                *words[] = {program, quiet, nullptr}, **list = words;
    sg4::Engine engine(&arguments, list);
    World made{machine, *memory, ranks, std::vector<Rank>((size_t) ranks), {}, {}, {}, 0};
    std::vector<double> began((size_t) rounds);
    double ended = 0;
    int over = 0;

    world = &made;
    sg4::Engine::set_config("network/model:CM02");
    sg4::Engine::set_config("network/TCP-gamma:0");
    make_platform(machine, by_node);
    auto meeting = sg4::Barrier::create((unsigned) ranks);
    for (int r = 0; r < ranks; r++) {
        made.rank[(size_t) r].numa = sim_numa(machine, by_node, r);
        made.rank[(size_t) r].wake = sg4::Semaphore::create(0);
        sg4::Actor::create(name("rank", r), made.rank[(size_t) r].core, [=, &made, &began, &ended, &over] {
            for (int i = 0; i < rounds; i++) {
                meeting->wait();
                made.me = r;
                if (i == rounds - 1) {
                    began[(size_t) i] = sg4::Engine::get_clock();
                    made.rank[(size_t) r].read = 0;
                    made.rank[(size_t) r].chain = 0;
                    made.cost = {};
                    if (r == 0)
                        for (auto &line : made.lines)
                            line.second.chain = 0;
                }
                meeting->wait();
                made.me = r;
                main(context, r);
            }
            over++;
            ended = std::max(ended, sg4::Engine::get_clock());
        });
    }
    engine.run();
    made.cost.seconds = (ended - began[(size_t) (rounds - 1)]) / SCALE;
    for (const Rank &r : made.rank) {
        made.cost.busiest = std::max(made.cost.busiest, r.read);
        made.cost.chain = std::max(made.cost.chain, r.chain);
    }
    world = nullptr;
    *cost = made.cost;
    return over == ranks;
}
