/** The logged-in user, as the API server reports it. */
export interface SessionUser {
  readonly name: string;
  readonly groups: readonly string[];
}
