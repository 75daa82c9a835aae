/** An unusable policy file. The message names the file and the line. */
export class PolicyFileError extends Error {}
