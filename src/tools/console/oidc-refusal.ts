/** The provider, or the check of what it sent, refuses a login. The message contains no secret. */
export class OidcRefusal extends Error {}
