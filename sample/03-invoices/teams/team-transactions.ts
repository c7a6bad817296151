import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { ClsService } from 'nestjs-cls';
import { DataSource, type EntityManager } from 'typeorm';

/** Transactions of a request: what they see and write is the team's, and the database sees to that. */
@Injectable()
export class TeamTransactions {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly cls: ClsService,
  ) {}

  run<T>(work: (manager: EntityManager, teamId: string) => Promise<T>): Promise<T> {
    const teamId = this.cls.get<string>('teamId');
    return this.dataSource.transaction('READ COMMITTED', async (manager) => {
      await manager.query(`SELECT set_config('app.owner_id', $1, true)`, [teamId]);
      return work(manager, teamId);
    });
  }
}
