/** The API server does not accept the credentials. */
export class RefusedLogin extends Error {}
