import { Module } from '@nestjs/common';
import { AUTHORIZER, closedAuthorizer, closedRules, RULE_RESOLVER } from '../../base/machinery/authorizer.js';

/** Replaces the authorization module in processes that serve no requests: it allows nothing. */
@Module({
  providers: [
    { provide: AUTHORIZER, useValue: closedAuthorizer },
    { provide: RULE_RESOLVER, useValue: closedRules },
  ],
  exports: [AUTHORIZER, RULE_RESOLVER],
})
export class ClosedAuthorizationModule {}
