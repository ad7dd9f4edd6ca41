# Sourced by maint/debian and test/debian, which run as root: systems of the distribution in folders of their own, to build
# packages and to install them.

# private_mounts ARGUMENT...: starts this script again with mounts that nobody else sees, and that end with its last process,
# whatever ends it
private_mounts() {
    [ -n "${PRIVATE_MOUNTS-}" ] || PRIVATE_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
}

# make_base FOLDER: the smallest system of this machine's distribution, from the archive that the machine itself uses. Kept:
# what is there already is not made again
make_base() {
    local codename mirror
    [ ! -d "$1" ] || return 0
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk -v name="$codename" '$1 == name { print $2; exit }')
    [ -n "$mirror" ] || { echo "no entry in /etc/apt for ${codename:-the distribution}" >&2; return 1; }
    rm -rf --one-file-system "$1.new"
    mkdir -p "$(dirname "$1")"
    debootstrap --variant=minbase "$codename" "$1.new" "$mirror" && mv "$1.new" "$1"
}

# make_chroot BASE FOLDER: a copy of the base, ready to run programs. FOLDER is replaced
make_chroot() {
    rm -rf --one-file-system "$2"
    cp -a "$1" "$2"
    cp -L /etc/resolv.conf "$2/etc/"
    mount -t proc proc "$2/proc"
    mount -t sysfs -o ro sysfs "$2/sys"
    mkdir -p "$2/dev/shm"
    mount -t tmpfs tmpfs "$2/dev/shm"
}

# inside FOLDER COMMAND...: runs it in there, from /root, with an environment of its own
inside() {
    local folder=$1 name keep=()
    shift
    for name in http_proxy https_proxy no_proxy; do
        [ -z "${!name-}" ] || keep+=("$name=${!name}")
    done
    chroot "$folder" env -i -C /root PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${keep[@]}" "$@"
}
