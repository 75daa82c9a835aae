import { generateKeyPairSync } from 'node:crypto';
import { configMap, create, type HostileCase, many, most, paths, pod, role, service } from './cases.js';

const { pods, services, configMaps, secrets, roles } = paths;
const digits = '9'.repeat(most - 1000);

function request(names: string): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const text = `-----BEGIN CERTIFICATE REQUEST-----\n${names}\n-----END CERTIFICATE REQUEST-----\n`;
  const body = Buffer.from(text + pem).toString('base64');
  return `{"kind":"CertificateSigningRequest","apiVersion":"certificates.k8s.io/v1","metadata":{"name":"request"},"spec":{"signerName":"a.b/c","usages":["client auth"],"request":"${body}"}}`;
}

/** DER of sets within sets, or of very many small ones. */
function der(count: number, isNested: boolean): string {
  if (!isNested) return Buffer.alloc(count * 2, Buffer.from([0x30, 0x00])).toString('base64');
  return Buffer.alloc(count * 2, Buffer.from([0x30, 0x80])).toString('base64');
}

/** Fields of single kinds. */
export const specCases: readonly HostileCase[] = [
  create('25,000 volumes', pods, () =>
    pod('volumes', `,"volumes":[${many((i) => `{"name":"v${i}","configMap":{"name":"c${i}"}}`)}]`),
  ),
  create('volumes of one name', pods, () =>
    pod('volumes-same', `,"volumes":[${many(() => '{"name":"v","emptyDir":{}}')}]`),
  ),
  create('volumes, empty', pods, () => pod('volumes-empty', `,"volumes":[${many(() => '{}')}]`)),
  create('volume mounts', pods, () =>
    pod('mounts', '', `,"volumeMounts":[${many((i) => `{"name":"v${i}","mountPath":"/m${i}"}`)}]`),
  ),
  create('containers', pods, () =>
    pod('containers', `,"initContainers":[${many((i) => `{"name":"c${i}","image":"i"}`)}]`),
  ),
  create('container ports', pods, () =>
    pod('ports', '', `,"ports":[${many((i) => `{"containerPort":${(i % 65535) + 1}}`)}]`),
  ),
  create('containers, as many as are stored', pods, () =>
    pod('containers-stored', `,"initContainers":[${many((i) => `{"name":"c${i}","image":"i"}`, 380_000)}]`),
  ),
  create('volumes, as many as are stored', pods, () =>
    pod('volumes-stored', `,"volumes":[${many((i) => `{"name":"v${i}","configMap":{"name":"c${i}"}}`, 1_100_000)}]`),
  ),
  create('service ports, as many as are stored', services, () =>
    service(
      'ports-stored',
      `"ports":[${many((i) => `{"name":"p${i}","port":${(i % 65535) + 1},"protocol":"TCP"}`, 900_000)}]`,
    ),
  ),
  create('environment', pods, () => pod('env', '', `,"env":[${many((i) => `{"name":"E${i}","value":"x"}`)}]`)),
  create('environment, invalid', pods, () => pod('env-bad', '', `,"env":[${many((i) => `{"name":"${i} "}`)}]`)),
  create('tolerations', pods, () =>
    pod('tolerations', `,"tolerations":[${many((i) => `{"key":"k${i}","operator":"Exists"}`)}]`),
  ),
  create('host aliases', pods, () => pod('aliases', `,"hostAliases":[${many((i) => `{"ip":"1.2.3.${i % 250}"}`)}]`)),
  create('affinity terms', pods, () =>
    pod(
      'affinity',
      `,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[${many((i) => `{"topologyKey":"k${i}","labelSelector":{"matchLabels":{"a":"b"}}}`)}]}}`,
    ),
  ),
  create('spread constraints', pods, () =>
    pod(
      'spread',
      `,"topologySpreadConstraints":[${many((i) => `{"maxSkew":1,"topologyKey":"k${i}","whenUnsatisfiable":"DoNotSchedule"}`)}]`,
    ),
  ),
  create('node selector', pods, () => pod('selector', `,"nodeSelector":{${many((i) => `"k${i}":"v"`)}}`)),
  create('sysctls', pods, () =>
    pod('sysctls', `,"securityContext":{"sysctls":[${many((i) => `{"name":"a.b${i}","value":"1"}`)}]}`),
  ),
  create('limits', pods, () => pod('limits', '', `,"resources":{"limits":{${many((i) => `"a.b/r${i}":"1"`)}}}`)),
  create('quantity of 3 MB of digits', pods, () => pod('quantity', '', `,"resources":{"limits":{"cpu":"${digits}"}}`)),
  create('quantity with a huge exponent', pods, () =>
    pod('exponent', '', `,"resources":{"limits":{"cpu":"1e999999999","memory":"1e-999999999"}}`),
  ),
  create('quantities, long', pods, () =>
    pod('quantities', '', `,"resources":{"limits":{${many((i) => `"a.b/r${i}":"${'123456789'.repeat(30)}n"`)}}}`),
  ),
  create('image of 3 MB', pods, () =>
    pod('image', `,"initContainers":[{"name":"i","image":"${'a/'.repeat(most / 2 - 200)}"}]`),
  ),
  create('mount path of 3 MB', pods, () =>
    pod('path', '', `,"volumeMounts":[{"name":"v","mountPath":"${'../'.repeat(most / 3 - 200)}"}]`),
  ),
  create('ephemeral names, backtracking', pods, () =>
    pod('backtracking', `,"hostname":"${'a-'.repeat(most / 4)}","subdomain":"${'a.-'.repeat(most / 6 - 100)}"`),
  ),
  create('60,000 service ports', services, () =>
    service('ports', `"ports":[${many((i) => `{"name":"p${i}","port":${(i % 65535) + 1},"protocol":"TCP"}`)}]`),
  ),
  create('service ports, invalid', services, () => service('ports-bad', `"ports":[${many(() => '{"port":0}')}]`)),
  create('node ports', services, () =>
    service('node-ports', `"type":"NodePort","ports":[${many((i) => `{"name":"p${i}","port":${(i % 65535) + 1}}`)}]`),
  ),
  create('external addresses', services, () =>
    service('external', `"ports":[{"port":1}],"externalIPs":[${many((i) => `"1.${i % 250}.2.3"`)}]`),
  ),
  create('source ranges', services, () =>
    service(
      'ranges',
      `"ports":[{"port":1}],"type":"LoadBalancer","loadBalancerSourceRanges":[${many((i) => `"1.${i % 250}.0.0/16"`)}]`,
    ),
  ),
  create(
    'endpoints',
    paths.endpoints,
    () =>
      `{"metadata":{"name":"e"},"subsets":[{"ports":[{"port":1}],"addresses":[${many((i) => `{"ip":"1.2.${(i >> 8) % 250}.${i % 250}"}`)}]}]}`,
  ),
  create(
    'endpoint subsets',
    paths.endpoints,
    () =>
      `{"metadata":{"name":"s"},"subsets":[${many((i) => `{"addresses":[{"ip":"1.2.3.${i % 250}"}],"ports":[{"port":1}]}`)}]}`,
  ),
  create(
    'endpoint slice',
    paths.slices,
    () =>
      `{"metadata":{"name":"s"},"addressType":"IPv4","endpoints":[${many((i) => `{"addresses":["1.2.3.${i % 250}"]}`)}]}`,
  ),
  create('config map, many keys', configMaps, () => configMap('keys', '', `,"data":{${many((i) => `"k${i}":""`)}}`)),
  create('config map, keys of a full megabyte', configMaps, () =>
    configMap('keys-ok', '', `,"data":{${many((i) => `"k${i}":""`, 1_400_000)}}`),
  ),
  create('config map, key of 3 MB', configMaps, () =>
    configMap('key', '', `,"data":{"${'a.'.repeat(most / 2 - 200)}!":""}`),
  ),
  create(
    'secret, string data',
    secrets,
    () => `{"metadata":{"name":"s"},"stringData":{${many((i) => `"k${i}":"v"`)}}}`,
  ),
  create('secret, data', secrets, () => `{"metadata":{"name":"d"},"data":{${many((i) => `"k${i}":"dg=="`)}}}`),
  create(
    'secret, one value',
    secrets,
    () => `{"metadata":{"name":"v"},"data":{"a":"${'QUFB'.repeat(most / 4 - 200)}"}}`,
  ),
  create(
    'account secrets',
    paths.accounts,
    () => `{"metadata":{"name":"a"},"secrets":[${many((i) => `{"name":"s${i}"}`)}]}`,
  ),
  create('role, 50,000 rules', roles, () =>
    role(
      'rules',
      many((i) => `{"apiGroups":[""],"resources":["r${i}"],"verbs":["get"]}`),
    ),
  ),
  create('role, one wide rule', roles, () =>
    role('wide', `{"apiGroups":[""],"verbs":["get"],"resources":[${many((i) => `"r${i}"`)}]}`),
  ),
  create('role, product of a rule', roles, () =>
    role(
      'product',
      `{"apiGroups":[${many((i) => `"g${i}"`, 9e5)}],"verbs":[${many((i) => `"v${i}"`, 9e5)}],"resources":[${many((i) => `"r${i}"`, 9e5)}]}`,
    ),
  ),
  create(
    'role binding, subjects',
    paths.bindings,
    () =>
      `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[${many((i) => `{"kind":"User","name":"u${i}","apiGroup":"rbac.authorization.k8s.io"}`)}]}`,
  ),
  create(
    'network policy',
    paths.policies,
    () =>
      `{"metadata":{"name":"p"},"spec":{"podSelector":{},"ingress":[{"from":[${many((i) => `{"ipBlock":{"cidr":"1.${i % 250}.0.0/16"}}`)}]}]}}`,
  ),
  create(
    'selector expressions',
    paths.deployments,
    () =>
      `{"metadata":{"name":"d"},"spec":{"selector":{"matchExpressions":[${many((i) => `{"key":"k${i}","operator":"Exists"}`)}]},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
  ),
  create(
    'webhooks',
    paths.webhooks,
    () =>
      `{"metadata":{"name":"w"},"webhooks":[${many((i) => `{"name":"a.b.c${i}","clientConfig":{"url":"https://x"},"sideEffects":"None","admissionReviewVersions":["v1"]}`)}]}`,
  ),
  create('certificate request, flat', paths.requests, () => request(der(800_000, false))),
  create('certificate request, nested', paths.requests, () => request(der(800_000, true))),
  create(
    'access review, extra',
    paths.reviews,
    () =>
      `{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"extra":{${many((i) => `"k${i}":["v"]`)}}}}`,
  ),
  create(
    'access review, groups',
    paths.reviews,
    () =>
      `{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"groups":[${many((i) => `"g${i}"`)}]}}`,
  ),
  create('token review', paths.tokenReviews, () => `{"spec":{"token":"${'a.'.repeat(most / 2 - 200)}"}}`),
  create(
    'token review, audiences',
    paths.tokenReviews,
    () => `{"spec":{"token":"x","audiences":[${many((i) => `"a${i}"`)}]}}`,
  ),
];
