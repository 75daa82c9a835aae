/** A change that a policy requests can't be made; the failure policy decides. */
export class MutationError extends Error {}
