import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const fieldManager = 'Name under which the changed fields are owned.';
const fieldValidation = 'What becomes of unknown or double fields: Ignore, Warn or Strict.';
const dryRun = 'All to go through everything but the write.';
const group = 'Name of the group; empty for the core group.';
const clientAddresses = 'Addresses of the server, by where the client is.';

/** Descriptions of the groups `meta` and `apidiscovery`, and of values that have a schema of their own. */
export const metaDescriptions: FieldDescriptions = {
  scalars: {
    quantity: 'A number, possibly with a unit: 250m is 0.25, 1Ki is 1024, 2G is two billion.',
    time: 'A point in time as in RFC 3339, to the second.',
    microTime: 'A point in time as in RFC 3339, to the microsecond.',
    duration: 'A span of time, such as 1h30m or 500ms.',
    intOrString: 'A whole number or a text, such as 8080 or http, 3 or 25%.',
    rawExtension: 'An object of any kind.',
    fieldsV1: 'A set of fields: nested objects with a member for each field.',
    anyJson: 'Any JSON value.',
  },
  'meta.APIGroup': {
    name: 'Name of the group.',
    versions: 'Versions of the group, the preferred first.',
    preferredVersion: 'Version that clients should use.',
    serverAddressByClientCIDRs: clientAddresses,
  },
  'meta.APIGroupList': { groups: 'The groups.' },
  'meta.APIResource': {
    '': 'A resource, and what can be done with it.',
    name: 'Plural name, as in URLs; with a slash for subresources.',
    singularName: 'Singular name, for commands.',
    namespaced: 'Whether its objects are in namespaces.',
    group: 'Group of the kind; empty if it is that of the list.',
    version: 'Version of the kind; empty if it is that of the list.',
    kind: 'Kind of its objects.',
    shortNames: 'Abbreviations for commands, such as po.',
    categories: 'Sets it belongs to, such as all.',
    storageVersionHash: 'Changes when the stored version changes; nothing else can be read from it.',
  },
  'meta.APIResourceList': {
    groupVersion: 'Group and version of the resources.',
    resources: 'The resources and subresources.',
  },
  'meta.APIVersions': {
    versions: 'Versions of the core group.',
    serverAddressByClientCIDRs: clientAddresses,
  },
  'meta.ApplyOptions': { dryRun, force: 'True takes over fields that others own. Required.', fieldManager },
  'meta.CreateOptions': { dryRun, fieldManager, fieldValidation },
  'meta.DeleteOptions': {
    ignoreStoreReadErrorWithClusterBreakingPotential:
      'True asks to delete an object even if it cannot be read any more. Not supported: refused.',
  },
  'meta.FieldSelectorRequirement': {
    '': 'One demand on a field.',
    key: 'Path of the field.',
    operator: 'In, NotIn, Exists or DoesNotExist.',
    values: 'Values for In and NotIn; else empty.',
  },
  'meta.GetOptions': { resourceVersion: 'How fresh the answer must be; empty is the newest, 0 is anything.' },
  'meta.GroupResource': { '': 'A resource, whatever the version.', group, resource: 'Plural name of the resource.' },
  'meta.GroupVersion': { '': 'A version of a group.', group, version: 'Name of the version.' },
  'meta.GroupVersionForDiscovery': {
    '': 'A version of a group, as it is listed.',
    groupVersion: 'Both, with a slash between.',
    version: 'The version alone.',
  },
  'meta.GroupVersionKind': {
    '': 'A kind in one version.',
    group,
    version: 'Name of the version.',
    kind: 'Name of the kind.',
  },
  'meta.GroupVersionResource': {
    '': 'A resource in one version.',
    group,
    version: 'Name of the version.',
    resource: 'Plural name of the resource.',
  },
  'meta.ListMeta': { shardInfo: 'Which part of the objects this list has; none if it has all.' },
  'meta.ListOptions': {
    fieldSelector: 'Chooses objects by fields, such as metadata.name=a.',
    watch: 'True streams changes instead of answering with a list.',
    allowWatchBookmarks: 'Whether the watch may get bookmarks with the current version.',
    resourceVersion: 'Version to begin from, or how fresh a list must be.',
    resourceVersionMatch: 'How resourceVersion is meant for lists: Exact or NotOlderThan.',
    timeoutSeconds: 'Ends the request after so many seconds.',
    limit: 'Most objects in one answer; the rest comes page by page.',
    continue: 'Token from the page before.',
    sendInitialEvents: 'True starts a watch with all present objects, closed by a bookmark.',
    shardSelector: 'Chooses a part of the objects by a hash.',
  },
  'meta.PatchOptions': {
    dryRun,
    force: 'True takes over fields that others own; for apply patches only.',
    fieldManager,
    fieldValidation,
  },
  'meta.RootPaths': { '': 'The paths that the server has.', paths: 'The paths, sorted.' },
  'meta.ServerAddressByClientCIDR': {
    '': 'Address of the server for some clients.',
    clientCIDR: 'Network that the clients are in.',
    serverAddress: 'Host, or host and port, for them.',
  },
  'meta.ShardInfo': { '': 'A part of all objects.', selector: 'The selector that chose the part.' },
  'meta.Table': {
    columnDefinitions: 'The columns, in order.',
    rows: 'The rows, one for each object.',
  },
  'meta.TableColumnDefinition': {
    '': 'A column of a table.',
    name: 'Heading of the column.',
    type: 'Type of its values, such as string, integer or date.',
    format: 'Narrows the type; name marks the column with names.',
    description: 'What the column shows.',
    priority: '0 is always shown; the higher, the less important.',
  },
  'meta.TableOptions': { includeObject: 'What each row has of its object: None, Metadata (default) or Object.' },
  'meta.TableRow': {
    '': 'A row of a table.',
    cells: 'Values, one for each column.',
    object: 'The object of the row, as far as asked for.',
  },
  'meta.UpdateOptions': { dryRun, fieldManager, fieldValidation },
  'apidiscovery.APIGroupDiscovery': { versions: 'Versions of the group, the preferred first.' },
  'apidiscovery.APIResourceDiscovery': {
    '': 'A resource, and what can be done with it.',
    resource: 'Plural name, as in URLs.',
    responseKind: 'Kind of its objects.',
    scope: 'Cluster or Namespaced.',
    singularResource: 'Singular name, for commands.',
    shortNames: 'Abbreviations for commands, such as po.',
    categories: 'Sets it belongs to, such as all.',
    subresources: 'Further paths of its objects.',
  },
  'apidiscovery.APISubresourceDiscovery': {
    '': 'A further path of the objects of a resource.',
    subresource: 'Name of the path, such as status.',
    responseKind: 'Kind of the responses; none if they are not objects.',
    acceptedTypes: 'Kinds that may be sent.',
  },
  'apidiscovery.APIVersionDiscovery': {
    '': 'A version of a group.',
    version: 'Name of the version.',
    resources: 'Resources of the version.',
    freshness: 'Current, or Stale when the extension server did not answer lately.',
  },
};
