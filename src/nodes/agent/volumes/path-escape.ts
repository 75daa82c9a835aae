/** A path that leads out of its folder, or to a file of another type than expected. */
export class PathEscape extends Error {}
