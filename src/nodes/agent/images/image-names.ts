const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::\\d+)?';
const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const reference = new RegExp(
  `^(?:(${domain})/)?(${part}(?:/${part})*)(?::([\\w][\\w.-]{0,127}))?(?:@(sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128}))?$`,
);

/** The components of an image name. */
export interface ImageName {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const usualRegistry = 'docker.io';

/** Why a text is not an image name, in the usual words. */
export function imageNameProblem(text: string): string {
  const slash = text.indexOf('/');
  const first = slash < 0 ? '' : text.slice(0, slash);
  const isRegistry = first !== '' && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  const rest = isRegistry ? text.slice(slash + 1) : text;
  const path = isRegistry || rest.includes('/') ? rest : `library/${rest}`;
  const [repository = ''] = path.split(':');
  const plain = 'invalid reference format';
  return repository === repository.toLowerCase()
    ? plain
    : `${plain}: repository name (${repository}) must be lowercase`;
}

/** Undefined for a text that is not an image name. */
export function parseImageName(text: string): ImageName | undefined {
  const match = reference.exec(text);
  if (match === null) return undefined;
  const [, first, rest = '', tag, digest] = match;
  // A first component without a dot or a port is not a registry.
  const isRegistry = first !== undefined && (/[.:]/.test(first) || first === 'localhost');
  const path = isRegistry || first === undefined ? rest : `${first}/${rest}`;
  const registry = isRegistry ? (first as string) : usualRegistry;
  const repository = registry === usualRegistry && !path.includes('/') ? `library/${path}` : path;
  return { registry, repository, tag, digest };
}
