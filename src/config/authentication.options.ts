import { Flag } from './flag.js';

/** Who a request is from. */
export class AuthenticationOptions {
  @Flag({
    name: 'anonymous-auth',
    type: 'bool',
    usage: 'Requests that no other method identifies are system:anonymous. When false they are refused with 401.',
  })
  readonly anonymousAuth: boolean = true;

  @Flag({
    name: 'client-ca-file',
    type: 'string',
    unit: 'file',
    usage: 'CA certificates in PEM: client certificates signed by one of them are accepted (CN is user, O are groups).',
  })
  readonly clientCaFile: string | undefined = undefined;

  @Flag({
    name: 'token-auth-file',
    type: 'string',
    unit: 'file',
    usage: 'CSV file of bearer tokens: token,user,uid,"group1,group2". Changes need a restart.',
  })
  readonly tokenAuthFile: string | undefined = undefined;
}
