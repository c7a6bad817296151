import { Injectable, type NestMiddleware, UnauthorizedException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { ClsService } from 'nestjs-cls';
import { WorkflowContext } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { type Actor, Member } from './member.entity.js';

interface Request {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Says who asks, and for which team: the header stands for your session or token. */
@Injectable()
export class SignIn implements NestMiddleware {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly cls: ClsService,
    private readonly context: WorkflowContext,
  ) {}

  async use(request: Request, _response: unknown, next: () => void): Promise<void> {
    const id = String(request.headers['x-member'] ?? '');
    const member = await this.dataSource.manager.findOneBy(Member, { id });
    if (!member) throw new UnauthorizedException('Say who you are: the header x-member takes the id of a member.');
    this.cls.set('teamId', member.teamId);
    this.context.setActor({ id: member.id, name: member.name } satisfies Actor);
    next();
  }
}
