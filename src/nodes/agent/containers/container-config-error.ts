/** The container can't be configured because an object or a key that it refers to is missing. */
export class ContainerConfigError extends Error {}
