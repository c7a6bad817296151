import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { LostAnswers } from './lost-answers.js';
import { MailEntity } from './mail.entity.js';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Stands for a mail relay that takes idempotency keys: mails are rows of a table. */
@Injectable()
export class MailService {
  constructor(
    @InjectRepository(MailEntity) private readonly outbox: Repository<MailEntity>,
    private readonly lostAnswers: LostAnswers,
  ) {}

  /**
   * Sends a mail; with a key that was sent before it does nothing.
   *
   * @throws Error when the answer was lost: the mail is out all the same
   */
  async send({ to, subject, text }: Mail, key: string): Promise<void> {
    await this.outbox.createQueryBuilder().insert().values({ key, recipient: to, subject, text }).orIgnore().execute();
    await this.outbox.increment({ key }, 'handedOver', 1);
    if (this.lostAnswers.next()) throw new Error('The line broke before the relay answered');
  }

  /** All mails, oldest first. */
  list(): Promise<MailEntity[]> {
    return this.outbox.find({ order: { id: 'ASC' } });
  }
}
