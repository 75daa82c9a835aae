/** A connection to a denied address. The message names the address. */
export class DeniedAddressError extends Error {
  constructor(host: string, address: string) {
    super(
      host === address
        ? `connections to ${address} are not allowed`
        : `${host} is at ${address}, and connections to it are not allowed`,
    );
    this.name = 'DeniedAddressError';
  }
}
