/** Thrown when there are too many single permissions to be checked one by one. */
export class TooManyPermissions extends Error {}
