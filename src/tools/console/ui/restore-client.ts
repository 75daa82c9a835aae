import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { ApiFault as RestoreFault } from '../../backup/cluster/api-fault.js';
import type { ServedKind } from '../../backup/cluster/served-kind.js';
import type { RestoreClient } from '../../backup/restore/past.js';
import type { Api } from './api.js';
import { ApiFault } from './api-fault.js';
import { exactJson } from './exact-json.js';
import { apiVersionOf, type Kind } from './kinds.js';

/** Sends the requests of a restore from the browser, with the rights of the session. */
export class RestoreRequests implements RestoreClient {
  /** @param api the client that reads the present state */
  constructor(private readonly api: Api) {}

  async send<T>(
    method: string,
    path: string,
    { body, signal }: { readonly body?: unknown; readonly signal: AbortSignal },
  ): Promise<T> {
    const sent = body === undefined ? {} : { body: exactJson(body) };
    return parseJson(await this.text(path, { method, signal, ...sent })) as T;
  }

  async list(
    path: string,
    signal: AbortSignal,
    onItem: (item: { toString(encoding: 'utf8'): string }) => Promise<void>,
  ): Promise<{ readonly continue?: string }> {
    const { items, metadata } = parseJson(await this.text(path, { signal })) as {
      readonly items?: readonly unknown[] | null;
      readonly metadata?: { readonly continue?: string };
    };
    for (const item of items ?? []) await onItem({ toString: () => exactJson(item) });
    return metadata ?? {};
  }

  private async text(path: string, options: Parameters<Api['text']>[1]): Promise<string> {
    try {
      return await this.api.text(path, options);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      throw new RestoreFault(error.code, error.reason, error.message, error.causes);
    }
  }
}

/** The kinds that can be restored. */
export function restorableKinds(kinds: readonly Kind[]): readonly ServedKind[] {
  return kinds
    .filter(({ verbs, resource, group }) => {
      const isTwin = resource === 'events' && group !== '';
      return verbs.includes('list') && verbs.includes('create') && !isTwin;
    })
    .map((kind) => ({
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      resource: kind.resource,
      namespaced: kind.namespaced,
      verbs: kind.verbs,
      hasStatus: kind.hasStatus === true,
      otherNames: kind.shortNames,
      storage: '',
    }));
}
