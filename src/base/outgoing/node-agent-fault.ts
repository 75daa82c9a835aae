/** A node agent that could not be reached. The message is that of the connection. */
export class NodeAgentFault extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'NodeAgentFault';
  }
}
