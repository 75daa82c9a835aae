import type { GroupVersionKind } from '../../../base/machinery/group-version.js';
import { listDoc } from '../../../base/machinery/list-doc.js';
import {
  always,
  type CustomKindForm,
  type KindType,
  kind,
  list,
  required,
  struct,
} from '../../../base/machinery/schema/index.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { showsDeletedObject, subresourcesOf, verbsOf } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { ResourceVerb } from '../../../objects/registry/resource-verb.js';
import {
  bodyKindOf,
  type ConnectSubresource,
  type SubresourceDefinition,
  subresourceVerbs,
} from '../../../objects/registry/subresource-definition.js';
import { applyMediaTypes, customPatchMediaTypes, patchMediaTypes } from '../handlers/patch.js';
import type { MetaKinds } from '../meta-kinds.interface.js';
import type { AcceptNegotiator } from '../negotiation/accept.js';
import type { OperationMethod, OperationModel, PathModel } from './operation-model.js';
import { nameParameter, namespaceParameter, pathParameter, pretty, proxyPath, queryParameters } from './parameters.js';

/** Dependencies of the paths. */
export interface PathContext {
  readonly kinds: MetaKinds;
  readonly names: VendorNames;
  readonly accept: Pick<AcceptNegotiator, 'documentedTypes' | 'documentedStreamTypes' | 'hasCbor'>;
}

const proxyMethods = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'] as const;

/** The body of a patch. Its form depends on the media type. */
const patchBody = struct('meta.v1.Patch', {}, { doc: 'A change of an object, in the form of its media type.' });

/** `apps` -> `Apps`, `rbac.authorization.<suffix>` -> `RbacAuthorization`, the core group -> `Core`. */
export function groupTitle(group: string, names: VendorNames): string {
  if (group === '') return 'Core';
  const suffix = `.${names.suffix}`;
  const short = group.endsWith(suffix) ? group.slice(0, -suffix.length) : group;
  return short.split(/[.-]/).map(capitalize).join('');
}

/** Tag of the operations of a group version: `apps_v1`. */
export function tagOf(group: string, version: string, names: VendorNames): string {
  const title = groupTitle(group, names);
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}${version === '' ? '' : `_${version}`}`;
}

export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** All paths of a resource: its objects in one namespace and in all of them, a single object, and its subresources. */
export function resourcePaths(context: PathContext, resource: ServedResource): PathModel[] {
  return new ResourcePaths(context, resource).make().filter((path) => path.operations.length > 0);
}

class ResourcePaths {
  private readonly verbs: readonly ResourceVerb[];
  private readonly gvk: GroupVersionKind;
  private readonly base: string;
  private readonly idPart: string;
  private readonly produces: readonly string[];

  constructor(
    private readonly context: PathContext,
    private readonly resource: ServedResource,
  ) {
    const { definition, served, apiVersion } = resource;
    this.verbs = verbsOf(definition);
    this.gvk = { group: definition.group, kind: definition.kind, version: served.version };
    this.base = `${definition.group === '' ? '/api' : '/apis'}/${apiVersion}`;
    this.idPart = groupTitle(definition.group, context.names) + capitalize(served.version);
    this.produces = context.accept.documentedTypes(served.type.custom === undefined);
  }

  make(): PathModel[] {
    const { definition } = this.resource;
    const { namespaced } = definition;
    const scope = namespaced ? `${this.base}/namespaces/{namespace}` : this.base;
    const inScope = namespaced ? [namespaceParameter, pretty] : [pretty];
    const onObject = [nameParameter(definition.kind), ...inScope];
    const onConnection = onObject.filter((parameter) => parameter !== pretty);
    const collection = `${scope}/${definition.resource}`;
    const paths: PathModel[] = [
      { path: collection, parameters: inScope, operations: this.collectionOperations() },
      { path: `${collection}/{name}`, parameters: onObject, operations: this.objectOperations() },
    ];
    for (const sub of subresourcesOf(definition)) {
      const operations = this.subresourceOperations(sub);
      const parameters = sub.type === 'connect' ? onConnection : onObject;
      paths.push({ path: `${collection}/{name}/${sub.name}`, parameters, operations });
      if (sub.type === 'connect' && sub.target === 'proxy') {
        paths.push({
          path: `${collection}/{name}/${sub.name}/{path}`,
          parameters: [...onConnection, pathParameter],
          operations: this.connectOperations(sub, 'WithPath'),
        });
      }
    }
    if (namespaced && this.verbs.includes('list')) {
      const everywhere = this.listOperation(`list${this.idPart}${definition.kind}ForAllNamespaces`);
      paths.push({ path: `${this.base}/${definition.resource}`, parameters: [pretty], operations: [everywhere] });
    }
    return this.isCustom ? paths : [...paths, ...this.watchPaths()];
  }

  private get isCustom(): boolean {
    return this.resource.served.type.custom !== undefined;
  }

  /** The deprecated paths that only support watching. */
  private watchPaths(): PathModel[] {
    const { kind: kindName, namespaced, resource } = this.resource.definition;
    if (!this.verbs.includes('watch')) return [];
    const root = `${this.base}/watch`;
    const scope = namespaced ? `${root}/namespaces/{namespace}` : root;
    const inScope = [...queryParameters.list, ...(namespaced ? [namespaceParameter, pretty] : [pretty])];
    const several = `Watch objects of kind ${kindName}. Deprecated: list them with the parameter watch.`;
    const one = `Watch one object of kind ${kindName}. Deprecated: list it by a field selector, with the parameter watch.`;
    const paths: PathModel[] = [
      {
        path: `${scope}/${resource}`,
        parameters: inScope,
        operations: [this.watchOperation('watchlist', this.id('watch', 'List'), several)],
      },
      {
        path: `${scope}/${resource}/{name}`,
        parameters: [nameParameter(kindName), ...inScope],
        operations: [this.watchOperation('watch', this.id('watch'), one)],
      },
    ];
    if (namespaced) {
      const id = `watch${this.idPart}${kindName}ListForAllNamespaces`;
      paths.push({
        path: `${root}/${resource}`,
        parameters: [...queryParameters.list, pretty],
        operations: [this.watchOperation('watchlist', id, several)],
      });
    }
    return paths;
  }

  private watchOperation(action: 'watch' | 'watchlist', id: string, description: string): OperationModel {
    const produces = this.streamTypes();
    const answer = this.context.kinds.watchEvent;
    return this.operation('get', action, { id, description, parameters: [], produces, answer });
  }

  private streamTypes(): readonly string[] {
    return this.context.accept.documentedStreamTypes(!this.isCustom);
  }

  /** `<verb><Group><Version>[Collection][Namespaced]<Kind>[<Subresource>]`. */
  private id(verb: string, suffix = '', prefix = ''): string {
    const { definition } = this.resource;
    return `${verb}${this.idPart}${prefix}${definition.namespaced ? 'Namespaced' : ''}${definition.kind}${suffix}`;
  }

  private operation(
    method: OperationMethod,
    action: string,
    parts: Pick<OperationModel, 'id' | 'description' | 'parameters' | 'answer'> & Partial<OperationModel>,
  ): OperationModel {
    const { group, version } = this.gvk;
    const tag = tagOf(group, version, this.context.names);
    const { produces } = this;
    const consumes = this.isCustom ? produces : ['*/*'];
    return { method, action, tag, gvk: this.gvk, consumes, produces, codes: [200], ...parts };
  }

  private collectionOperations(): OperationModel[] {
    const { definition, served } = this.resource;
    const operations: OperationModel[] = [];
    if (this.verbs.includes('list')) operations.push(this.listOperation(this.id('list')));
    if (this.verbs.includes('create')) {
      operations.push(
        this.operation('post', 'post', {
          id: this.id('create'),
          description: `Create one object of kind ${definition.kind}.`,
          parameters: queryParameters.write,
          body: { content: served.type, required: true },
          codes: [200, 201, 202],
          answer: served.type,
        }),
      );
    }
    if (this.verbs.includes('deletecollection')) {
      const { deleteOptions, status } = this.context.kinds;
      operations.push(
        this.operation('delete', 'deletecollection', {
          id: this.id('delete', '', 'Collection'),
          description: `Delete the selected objects of kind ${definition.kind}.`,
          parameters: queryParameters.deleteCollection,
          body: { content: deleteOptions, required: false },
          answer: status,
        }),
      );
    }
    return operations;
  }

  private listOperation(id: string): OperationModel {
    const { definition, served } = this.resource;
    const isWatched = this.verbs.includes('watch');
    return this.operation('get', 'list', {
      id,
      description: `List ${isWatched ? 'or watch ' : ''}objects of kind ${definition.kind}.`,
      parameters: queryParameters.list,
      produces: this.streamTypes(),
      answer: listTypeOf(served.type, this.context.kinds),
    });
  }

  private objectOperations(): OperationModel[] {
    const { definition, served } = this.resource;
    const { kind: kindName } = definition;
    const operations: OperationModel[] = [];
    for (const verb of ['get', 'update', 'patch'] as const) {
      if (this.verbs.includes(verb)) operations.push(this.objectOperation(verb, kindName, '', this.gvk, served.type));
    }
    if (this.verbs.includes('delete')) {
      const { deleteOptions, status } = this.context.kinds;
      operations.push(
        this.operation('delete', 'delete', {
          id: this.id('delete'),
          description: `Delete one object of kind ${kindName}.`,
          parameters: queryParameters.delete,
          body: { content: deleteOptions, required: false },
          codes: [200, 202],
          // The response may be either: the object while finalizers still hold it, or a Status for users who may not
          // read it. For a namespace, which is removed at once only when it is empty, upstream describes the Status.
          answer: showsDeletedObject(definition) && kindName !== 'Namespace' ? served.type : status,
        }),
      );
    }
    return operations;
  }

  private subresourceOperations(sub: SubresourceDefinition): OperationModel[] {
    const { definition, served } = this.resource;
    const { kind: gvk, type } = bodyKindOf(sub) ?? { kind: this.gvk, type: served.type };
    const verbs = subresourceVerbs(sub);
    const suffix = sub.name.split('-').map(capitalize).join('');
    const what = `${sub.name} of one ${definition.kind}`;
    const operations: OperationModel[] = [];
    if (sub.type === 'connect') return this.connectOperations(sub, '');
    if (sub.type === 'stream') {
      return [
        this.operation('get', 'get', {
          id: this.id('read', suffix),
          description: `Read the ${what}.`,
          parameters: sub.parameters.map((parameter) => ({ ...parameter, in: 'query' })),
          produces: ['text/plain', ...this.produces],
          answer: { type: 'text' },
        }),
      ];
    }
    for (const verb of ['get', 'update', 'patch'] as const) {
      if (verbs.includes(verb)) operations.push(this.objectOperation(verb, what, suffix, gvk, type));
    }
    if (verbs.includes('create')) {
      operations.push(
        this.operation('post', 'post', {
          id: this.id('create', suffix),
          gvk,
          description: `Create the ${what}.`,
          parameters: queryParameters.write,
          body: { content: type, required: true },
          codes: [200, 201, 202],
          answer: type,
        }),
      );
    }
    return operations;
  }

  /** The response of the other server may have any form. */
  private connectOperations(sub: ConnectSubresource, end: 'WithPath' | ''): OperationModel[] {
    const isProxy = sub.target === 'proxy';
    const suffix = `${capitalize(sub.name)}${end}`;
    const own = sub.parameters.map((parameter) => ({ ...parameter, in: 'query' as const }));
    const methods = isProxy ? proxyMethods : (['get', 'post'] as const);
    return methods.map((method) =>
      this.operation(method, 'connect', {
        id: this.id('connect', suffix, capitalize(method)),
        gvk: sub.body.kind,
        description: `Connect ${method.toUpperCase()} requests to the ${sub.name} of one ${this.resource.definition.kind}.`,
        parameters: isProxy ? [...own, proxyPath] : own,
        produces: ['*/*'],
        answer: { type: 'text' },
      }),
    );
  }

  private objectOperation(
    verb: 'get' | 'update' | 'patch',
    what: string,
    suffix: string,
    gvk: GroupVersionKind,
    type: KindType,
  ): OperationModel {
    const patches = this.isCustom ? customPatchMediaTypes : patchMediaTypes;
    switch (verb) {
      case 'get':
        return this.operation('get', 'get', {
          id: this.id('read', suffix),
          gvk,
          description: `Read the ${what}.`,
          parameters: this.isCustom ? queryParameters.customGet : [],
          answer: type,
        });
      case 'update':
        return this.operation('put', 'put', {
          id: this.id('replace', suffix),
          gvk,
          description: `Replace the ${what}.`,
          parameters: queryParameters.write,
          body: { content: type, required: true },
          codes: [200, 201],
          answer: type,
        });
      case 'patch':
        return this.operation('patch', 'patch', {
          id: this.id('patch', suffix),
          gvk,
          description: `Change parts of the ${what}.`,
          parameters: queryParameters.patch,
          consumes: [...patches, ...applyMediaTypes(this.context.accept.hasCbor)],
          body: { content: patchBody, required: true },
          codes: [200, 201],
          answer: type,
        });
    }
  }
}

const listTypes = new WeakMap<KindType, KindType>();
const plainForm: CustomKindForm = {
  published: () => undefined,
  decode: (input) => input,
  others: undefined,
  openApi: () => ({}),
  publishesFields: () => true,
};

/** The list kind for an item kind. */
function listTypeOf(item: KindType, kinds: MetaKinds): KindType {
  let type = listTypes.get(item);
  if (type === undefined) {
    const { group, version, kind: itemKind } = item.kind;
    type = kind(
      { group, version, kind: `${itemKind}List` },
      {
        metadata: always(1, kinds.listMeta, { doc: 'The state that the list shows.' }),
        items: required(2, list(item), { doc: listDoc(itemKind) }),
      },
      { name: `${item.name}List`, doc: `Objects of kind ${itemKind}.` },
    );
    // The name of a custom kind's list is complete, like that of its items.
    if (item.custom !== undefined) type = { ...type, custom: plainForm };
    listTypes.set(item, type);
  }
  return type;
}
