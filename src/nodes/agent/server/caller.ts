/** The user who sent a request. */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const anonymous: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
