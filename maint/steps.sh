# Sourced by quickstart, check and try: runs named steps and shows their progress; and the steps from packages to install.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$top/build/log
mkdir -p "$logs"

# step NAME WHAT COMMAND...: runs the command with its output in build/log/NAME.log. Prints WHAT, the seconds it takes and
# the seconds it took the last time. If the command fails, prints the end of the log and exits
step() {
    local name=$1 what=$2 log=$logs/$1.log last="" started=$SECONDS pid status
    shift 2
    [ -f "$logs/$name.seconds" ] && last=", last time $(cat "$logs/$name.seconds") s"
    printf '%-44s' "$what"
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    if [ -t 1 ]; then
        while kill -0 "$pid" 2>/dev/null; do
            printf '\r%-44s %d s%s ' "$what" $((SECONDS - started)) "$last"
            sleep 1
        done
        printf '\r%-44s' "$what"
    fi
    status=0
    wait "$pid" || status=$?
    if [ "$status" -ne 0 ]; then
        printf ' FAILED after %d s; its last lines (all: %s):\n' $((SECONDS - started)) "$log"
        tail -n 20 "$log"
        exit 1
    fi
    printf ' %d s%s\n' $((SECONDS - started)) "$last"
    echo $((SECONDS - started)) >"$logs/$name.seconds"
}

packages="build-essential ccache autoconf automake libtool pkg-config patch perl python3 python3-yaml dpkg-dev xz-utils
    libhwloc-dev libfabric-dev libpsm-infinipath1-dev libpsm2-dev librdmacm-dev libibverbs-dev
    libjson-c-dev libcmocka-dev gnuplot-nox fonts-dejavu-core spin lowdown man-db graphviz
    qemu-system-x86 busybox-static iproute2 clang-format black universal-ctags"

missing_packages() {
    for p in $packages; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || echo "$p"
    done
}

install_packages() {
    local missing sudo=""
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    $sudo apt-get update
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

# Makes ./configure and config.status anew if they are out of date. Arguments once given to ./configure are kept until others
# are given.
configure_driver() {
    cd "$top" || return 1
    [ configure -nt configure.ac ] || ./autogen.sh || return 1
    if [ -n "${driver_arguments-}" ] || [ ! -f config.status ]; then
        ./configure --prefix="$top/install" ${driver_arguments-}
    elif [ ! Makefile -nt Makefile.in ] || [ ! Makefile -nt configure ]; then
        ./config.status --recheck && ./config.status
    fi
}

# build_and_install ARGUMENT...: builds MPICH with numacoll and installs it in ./install. The arguments go to ./configure.
build_and_install() {
    driver_arguments="$*"
    step packages "packages of the distribution" install_packages
    step configure "the driver" configure_driver
    step source "MPICH source, graft" make -C "$top" build/graft
    step mpich-configure "MPICH's configure" make -C "$top" build/configured
    step make "MPICH with numacoll" make -C "$top" -j"$(nproc)" build/made
    step install "into ./install" make -C "$top" install
}
