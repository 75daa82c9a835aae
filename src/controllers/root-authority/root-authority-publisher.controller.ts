import type { ConfigMap } from '../../apis/core/v1/config-map.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { EveryNamespaceLoop, type EveryNamespaceOptions } from '../every-namespace-loop.js';
import type { RootAuthority } from './root-authority.js';

export interface RootAuthorityPublisherOptions extends EveryNamespaceOptions {
  readonly rootAuthority: RootAuthority;
}

const key = 'ca.crt';

/**
 * Keeps a ConfigMap in every active namespace from which pods learn which authorities to trust for the API
 * (specification 5.3). It holds nothing else; other content is removed.
 */
export class RootAuthorityPublisher extends EveryNamespaceLoop {
  readonly name = 'root-ca-cert-publisher';
  private readonly rootAuthority: RootAuthority;

  /** @throws Error when the registry lacks namespaces or config maps. */
  constructor(options: RootAuthorityPublisherOptions) {
    super(options, 'configmaps', options.names.rootAuthorityMap);
    this.rootAuthority = options.rootAuthority;
  }

  override async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.rootAuthority.onChange(() => this.lookAtAll());
    try {
      await super.run(signal);
    } finally {
      stopListening();
    }
  }

  protected content(): Readonly<Record<string, unknown>> {
    return { data: { [key]: this.rootAuthority.pem } };
  }

  protected override repair(live: ApiObject): ApiObject {
    const { data = {}, binaryData, immutable } = live as ApiObject as ConfigMap;
    // Somebody made it immutable on purpose; its content can't be changed any more.
    if (immutable === true) return live;
    const isRight = Object.keys(data).length === 1 && data[key] === this.rootAuthority.pem && binaryData === undefined;
    if (isRight) return live;
    const { binaryData: _, ...kept } = live as ApiObject as ConfigMap;
    return { ...kept, data: { [key]: this.rootAuthority.pem } } as ApiObject;
  }
}
