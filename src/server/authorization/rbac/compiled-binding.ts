import { PackedStrings } from '../../../base/machinery/packed/packed-strings.js';
import { eachInSteps, type Steps } from '../../../base/machinery/turns.js';
import type {
  ClusterRoleBinding,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../../objects/apis/rbac/v1/role-binding.types.js';

/** A binding of either kind. */
export type AnyBinding = RoleBinding | ClusterRoleBinding;

/** The parts of a binding that appear in a grant's reason. */
export interface BindingNames {
  readonly roleRef: Pick<RoleRef, 'kind' | 'name'>;
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** The prefix of the user names of service accounts. */
const accountPrefix = 'system:serviceaccount:';
/** Bindings with more subjects than this are wide: they are searched, and not part of the index by subject. */
const fewSubjects = 128;
/** Estimated memory in bytes of a binding, and of each subject that is part of the index, without texts. */
const bindingBytes = 600;
const subjectBytes = 400;

/** Sets of more names are packed. */
const fewNames = 16;
/** Estimated memory of a name in a set that is not packed, in bytes. */
const nameBytes = 80;

/** A set of names: a few, or packed. */
type Names = ReadonlySet<string> | PackedStrings;

function* namesIn(names: readonly string[]): Steps<Names> {
  return names.length <= fewNames ? new Set(names) : yield* PackedStrings.inSteps(names);
}

function bytesOf(names: Names): number {
  return names instanceof PackedStrings ? names.bytes : names.size * nameBytes;
}

/** The many subjects of a wide binding, packed. Service accounts are known by their user names. */
export class WideSubjects {
  private constructor(
    private readonly users: Names,
    private readonly accounts: Names,
    private readonly groups: Names,
  ) {}

  static *inSteps(subjects: readonly Subject[], namespace: string): Steps<WideSubjects> {
    const [users, accounts, groups]: string[][] = [[], [], []];
    yield* eachInSteps(subjects, (subject) => {
      const who = whoIs(subject, namespace);
      if (who === undefined) return;
      if (subject.kind === 'Group') groups?.push(who);
      else if (subject.kind === 'User') users?.push(who);
      else accounts?.push(who);
    });
    return new WideSubjects(yield* namesIn(users ?? []), yield* namesIn(accounts ?? []), yield* namesIn(groups ?? []));
  }

  /** The subject that stands for the user. @param hash of its name */
  user(name: string, hash: number): Subject | undefined {
    if (this.users.has(name, hash)) return { kind: 'User', name };
    if (!name.startsWith(accountPrefix) || !this.accounts.has(name, hash)) return undefined;
    const [namespace = '', account = ''] = name.slice(accountPrefix.length).split(':');
    return { kind: 'ServiceAccount', namespace, name: account };
  }

  group(name: string, hash: number): Subject | undefined {
    return this.groups.has(name, hash) ? { kind: 'Group', name } : undefined;
  }

  /** Memory in bytes. */
  get bytes(): number {
    return bytesOf(this.users) + bytesOf(this.accounts) + bytesOf(this.groups);
  }
}

/** The parts of a binding that decisions need. */
export class CompiledBinding {
  private constructor(
    readonly names: BindingNames,
    readonly subjects: readonly Subject[] | WideSubjects,
    /** False if the subjects found no room in memory. */
    readonly isWhole = true,
  ) {}

  static *inSteps({ metadata, roleRef, subjects }: AnyBinding): Steps<CompiledBinding> {
    const { name = '', namespace = '' } = metadata;
    const names = { metadata: { name, namespace }, roleRef: { kind: roleRef.kind, name: roleRef.name } };
    const list = subjects ?? [];
    if (list.length <= fewSubjects) return new CompiledBinding(names, list);
    return new CompiledBinding(names, yield* WideSubjects.inSteps(list, namespace));
  }

  get withoutSubjects(): CompiledBinding {
    return new CompiledBinding(this.names, [], false);
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    if (this.subjects instanceof WideSubjects) return bindingBytes + this.subjects.bytes;
    return this.subjects.reduce((sum, { name }) => sum + subjectBytes + 2 * name.length, bindingBytes);
  }
}

/**
 * The group, or the user name that a User or ServiceAccount subject stands for; undefined for anything else.
 *
 * @param bindingNamespace where a service account without a namespace lives
 */
export function whoIs({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return name;
  if (kind !== 'ServiceAccount') return undefined;
  const home = namespace === undefined || namespace === '' ? bindingNamespace : namespace;
  return home === '' ? undefined : `${accountPrefix}${home}:${name}`;
}
