import { ForbiddenError } from '@casl/ability';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { type AuthorizationRequest, deny, type StageAuthorizer } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { Invoice } from '../invoices/invoice.entity.js';
import { abilityOf, type TeamAbility } from './ability.js';
import { type Actor, Member } from './member.entity.js';
import type { Team } from './team.entity.js';

/** Answers the engine by the same abilities as the app: before each stage, and before each call that people make. */
@Injectable()
export class TeamAuthorizer implements StageAuthorizer {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async authorize(request: AuthorizationRequest) {
    const actor = request.actor as Actor | null;
    if (!actor) return deny('nobody is signed in');
    // As they are now: a run may go on days after it was started.
    const member = await this.dataSource.manager.findOneBy(Member, { id: actor.id });
    if (!member) return deny(`${actor.name} has left the team`);
    const ability = abilityOf(member, request.owner as Team);
    switch (request.kind) {
      case 'stage':
        return answer(ability, request.ability ?? request.stage.id, (request.subject as Invoice | null) ?? Invoice);
      case 'operation':
        return answer(ability, request.operation, 'Run');
      default:
        return deny('only leads and clerks of a team are known here');
    }
  }
}

/** Yes, or the reason of the rule that says no. */
function answer(ability: TeamAbility, action: string, about: Parameters<TeamAbility['can']>[1]) {
  const refusal = ForbiddenError.from(ability).unlessCan(action, about);
  return refusal ? deny(refusal.message) : true;
}
