/** The namespace no longer exists, or another one has its name. */
export class NamespaceGone extends Error {}
