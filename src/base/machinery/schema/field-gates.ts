let open: ReadonlySet<string> = new Set();

/**
 * Sets the gates whose fields are kept from now on, in all schemas of the process. A process sets them once, when it
 * knows its feature gates and before it reads any object. At first none is open.
 */
export function openFieldGates(names: Iterable<string>): void {
  open = new Set(names);
}

/** Whether the fields of the gate are kept. */
export function isFieldGateOpen(name: string): boolean {
  return open.has(name);
}
