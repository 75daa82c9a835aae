/** The id and the secret part of a bootstrap token. */
export const bootstrapTokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

export function hasBootstrapTokenForm(token: string): boolean {
  return bootstrapTokenForm.test(token);
}
