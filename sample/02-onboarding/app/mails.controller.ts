import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { MailEntity } from '../mail/mail.entity.js';
import { MailService } from '../mail/mail.service.js';

@ApiTags('mails')
@Controller('mails')
export class MailsController {
  constructor(private readonly mails: MailService) {}

  @Get()
  @ApiOperation({ summary: 'Every mail that went out, and how often it was handed over' })
  list(): Promise<MailEntity[]> {
    return this.mails.list();
  }
}
