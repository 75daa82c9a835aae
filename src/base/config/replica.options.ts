import { Check } from './check.js';
import { databaseUrlProblem } from './database-url-problem.js';
import { Flag } from './flag.js';

/** Which database a replica follows, and how. */
export class ReplicaOptions {
  @Flag({
    name: 'primary-database-url',
    type: 'string',
    unit: 'url',
    usage:
      'The database of the servers, as PostgreSQL of the replica reaches it, with a role that may replicate and read the ' +
      'schema plinth. Needed for the first start only.',
    secret: true,
  })
  @Check('primaryDatabaseUrl', primaryUrlProblem)
  readonly primaryDatabaseUrl: string | undefined = undefined;

  @Flag({
    name: 'replica-name',
    type: 'string',
    unit: 'name',
    usage: 'Names the subscription, and its replication slot in the database of the servers. Each replica has its own.',
  })
  @Check('replicaName', replicaNameProblem)
  readonly replicaName: string = 'plinth_replica';

  @Flag({
    name: 'replica-without',
    type: 'list',
    unit: 'resource[.group],...',
    usage:
      'Resources that never leave the database of the servers, such as secrets. Holds for all its replicas: the first one ' +
      'decides. Needs PostgreSQL 15.',
  })
  readonly replicaWithout: readonly string[] = Object.freeze([]);
}

/** PostgreSQL allows only these names for a replication slot. */
function replicaNameProblem(name: string): string | undefined {
  return /^[a-z0-9_]{1,63}$/.test(name) ? undefined : 'must have at most 63 characters of a-z, 0-9 and _';
}

/** PostgreSQL of the replica connects with this URL: it reads no file of this machine. */
function primaryUrlProblem(url: string): string | undefined {
  return url.startsWith('file:') ? 'must be a URL of the form postgresql://...' : databaseUrlProblem(url);
}
