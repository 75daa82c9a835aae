/**
 * The largest JSON of the affinity and spread constraints of one pod that is placed, in characters: some hundred terms.
 * Every decision about every pod reads the terms of all others.
 */
export const mostPlacingSize = 64 * 1024;

/** The largest JSON of the different affinity terms of the pods of one namespace that are on nodes, in characters. */
export const mostTermsOfNamespace = 2 * 1024 * 1024;

/** Larger demands of a pod are not kept between accesses: they are computed again when needed. */
export const mostKeptSize = 8 * 1024;
