/** Something that a user may or may not do. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Why something is refused, for people. */
export function refusalText({ verb, group, resource, subresource, namespace }: Right, reason: string): string {
  const named = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  const where = namespace === undefined || namespace === '' ? '' : ` in the namespace ${namespace}`;
  return `You may not ${verb} ${named}${where}${reason === '' ? '' : `: ${reason}`}`;
}
