# Sourced by quickstart, check and try: runs named steps and shows their progress; and the steps from packages to install.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$top/build/log
mkdir -p "$logs"

# end_step PID: ends the processes of a step, which are a group, and this shell
end_step() {
    set +e
    trap - INT TERM HUP
    kill -TERM -- "-$1" 2>/dev/null
    for _ in {1..25}; do
        kill -0 -- "-$1" 2>/dev/null || break
        sleep 0.2
    done
    kill -KILL -- "-$1" 2>/dev/null
    printf ' ended\n'
    exit 130
}

# step NAME WHAT COMMAND...: runs the command with its output in build/log/NAME.log. Prints WHAT, the seconds it takes and
# the seconds it took the last time. If the command fails, prints the end of the log and exits. If this shell gets a signal
# that ends it, or the script that it is a part of has ended, all processes of the command are ended
step() {
    local name=$1 what=$2 log=$logs/$1.log last="" started=$SECONDS pid status
    shift 2
    [ -f "$logs/$name.seconds" ] && last=", last time $(cat "$logs/$name.seconds") s"
    printf '%-44s' "$what"
    set -m # the command gets a process group of its own
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    set +m
    trap 'end_step '$pid INT TERM HUP
    while kill -0 "$pid" 2>/dev/null; do
        [ -e /proc/$$/exe ] || end_step "$pid" # of a script that has ended nothing is left there
        [ ! -t 1 ] || printf '\r%-44s %d s%s ' "$what" $((SECONDS - started)) "$last"
        sleep 0.2
    done
    status=0
    wait "$pid" || status=$?
    trap - INT TERM HUP
    [ ! -t 1 ] || printf '\r%-44s' "$what"
    if [ "$status" -ne 0 ]; then
        printf ' FAILED after %d s; its last lines (all: %s):\n' $((SECONDS - started)) "$log"
        tail -n 20 "$log"
        exit 1
    fi
    printf ' %d s%s\n' $((SECONDS - started)) "$last"
    echo $((SECONDS - started)) >"$logs/$name.seconds"
}

# What a build needs, and quickstart's pictures
packages="build-essential autoconf automake libtool pkg-config perl python3 python3-yaml dpkg-dev xz-utils
    libhwloc-dev libjson-c-dev lowdown gnuplot-nox fonts-dejavu-core"
! "$top/maint/libfabric" --network || packages+=" libfabric-dev librdmacm-dev libibverbs-dev"
# What the tests need besides. Of libfabric's networks, two exist on x86 only
packages_of_tests="git locales ccache libcmocka-dev libjemalloc2 spin libsimgrid-dev man-db graphviz qemu-system-x86 busybox-static iproute2 clang-format black
    universal-ctags environment-modules libfabric-dev librdmacm-dev libibverbs-dev"
case $(uname -m) in x86_64 | i?86) packages_of_tests+=" libpsm-infinipath1-dev libpsm2-dev" ;; esac

missing_packages() {
    for p; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || echo "$p"
    done
}

apt_install() {
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# install_packages NAME WHAT PACKAGE...: a step that installs the packages that are missing, or says which they are. On systems
# without dpkg, configure says what is missing
install_packages() {
    local name=$1 what=$2 missing
    shift 2
    command -v dpkg-query >/dev/null || return 0
    missing=$(missing_packages "$@" | xargs)
    if [ -z "$missing" ]; then
        return
    elif [ "$(id -u)" -eq 0 ]; then
        step "$name" "$what" apt_install $missing
    elif command -v sudo >/dev/null && echo "$what: sudo apt-get install $missing" &&
        sudo bash -c "$(declare -f apt_install); apt_install $missing"; then # not a step: sudo may ask for a password
        return
    else
        echo "packages are missing; as root: apt-get install $missing" >&2
        exit 1
    fi
}

# configure_driver ARGUMENT...: makes ./configure and config.status anew if they are out of date. The arguments go to
# ./configure, and those that it was given before are kept, if not given again.
configure_driver() {
    local all=("--prefix=$top/install") old=() argument i
    cd "$top" || return 1
    { [ -f configure ] && ! [ configure.ac -nt configure ]; } || ./autogen.sh || return 1
    if [ $# -gt 0 ] || [ ! -f config.status ]; then
        [ ! -f config.status ] || eval "old=($(./config.status --config))"
        for argument in "${old[@]}" "$@"; do
            for i in "${!all[@]}"; do
                [ "${all[i]%%=*}" != "${argument%%=*}" ] || unset "all[i]"
            done
            all+=("$argument")
        done
        ./configure "${all[@]}"
    elif [ ! Makefile -nt Makefile.in ] || [ ! Makefile -nt configure ]; then
        ./config.status --recheck && ./config.status
    fi
}

# configured NAME: a folder as configure was told, such as bindir
configured() { make -s --no-print-directory -C "$top" value NAME="$1"; }

# build_and_install ARGUMENT...: builds MPICH with numacoll and installs it. The arguments go to ./configure.
build_and_install() {
    install_packages packages "packages of the distribution" $packages
    step configure "the driver" configure_driver "$@"
    step source "MPICH source, graft" make -C "$top" build/graft
    step mpich-configure "MPICH's configure" make -C "$top" build/configured
    step make "MPICH with numacoll" make -C "$top" -j"$(nproc)" build/made
    step install "into $(configured prefix)" make -C "$top" install
}
