/** Too many queries are under way. */
export class TooManyQueries extends Error {}
