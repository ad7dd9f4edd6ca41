/* Ends what numacoll_counts.h has begun, as often as it is included: MPL_malloc and MPL_free are
 * MPICH's again. Always built. */

#pragma pop_macro("MPL_free")
#pragma pop_macro("MPL_malloc")
