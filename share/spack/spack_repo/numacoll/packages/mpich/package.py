"""Spack's mpich with numacoll, from the patches numacoll-VERSION.patch that lie beside this file.

Make one for each version of MPICH that is to be had with numacoll, from its unpacked tarball:

  maint/graft --export share/spack/spack_repo/numacoll/packages/mpich/numacoll-VERSION.patch TREE
  spack repo add share/spack/spack_repo/numacoll
  spack install mpich+numacoll

Only these versions have the variant, so +numacoll never means an MPICH without it. A patch is part
of Spack's hash: another patch is another package. It is the library; the tools are not in it.
"""
import os
import re

from spack_repo.builtin.packages.mpich.package import Mpich as BuiltinMpich

from spack.package import *


class Mpich(BuiltinMpich):
    """MPICH with collectives through the memory that the processes of a node share."""

    for _name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        _found = re.match(r"numacoll-(\d[\w.]*)\.patch$", _name)
        if _found:
            variant(
                "numacoll",
                default=True,
                when="@=%s device=ch4" % _found.group(1),
                description="Collectives through the memory of a node",
            )
            patch(_name, when="@=%s +numacoll" % _found.group(1))

    with when("+numacoll"):
        for _name in ("autoconf", "automake", "libtool", "m4", "perl"):
            depends_on(_name, type="build")
        depends_on("python@3:", type="build")

    def autoreconf(self, spec, prefix):
        if "+numacoll" in spec:
            # not -i or -f: the release's libtool is patched for several Fortran compilers
            Executable("autoreconf")()
        else:
            super().autoreconf(spec, prefix)

    def configure_args(self):
        args = super().configure_args()
        if "+numacoll" in self.spec:
            # numacoll is in this module, which MPICH on UCX does not build by itself
            args.append("--with-ch4-shmmods=posix")
        return args
