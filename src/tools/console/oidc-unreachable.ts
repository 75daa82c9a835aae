/** The provider could not be reached, or answered with something else than the protocol allows. */
export class OidcUnreachable extends Error {}
