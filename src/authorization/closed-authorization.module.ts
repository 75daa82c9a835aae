import { Module } from '@nestjs/common';
import { AUTHORIZER, closedAuthorizer, closedRules, RULE_RESOLVER } from '../machinery/authorizer.js';

/** In the place of the authorization module where nobody sends requests: allows nothing. */
@Module({
  providers: [
    { provide: AUTHORIZER, useValue: closedAuthorizer },
    { provide: RULE_RESOLVER, useValue: closedRules },
  ],
  exports: [AUTHORIZER, RULE_RESOLVER],
})
export class ClosedAuthorizationModule {}
