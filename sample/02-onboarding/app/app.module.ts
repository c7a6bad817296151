import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkflowModule } from 'nestjs-workflow-engine';
import { Billing } from '../billing/billing.workflow.js';
import { FirstPayment } from '../billing/first-payment.stage.js';
import { OpenAccount } from '../billing/open-account.stage.js';
import { PaymentProvider } from '../billing/payment-provider.service.js';
import { LostAnswers } from '../mail/lost-answers.js';
import { MailEntity } from '../mail/mail.entity.js';
import { MailService } from '../mail/mail.service.js';
import { Onboarding } from '../onboarding.workflow.js';
import { CompleteProfile } from '../stages/complete-profile.stage.js';
import { Finish } from '../stages/finish.stage.js';
import { SignOff } from '../stages/sign-off.stage.js';
import { StartBilling } from '../stages/start-billing.stage.js';
import { Welcome } from '../stages/welcome.stage.js';
import { MailsController } from './mails.controller.js';
import { OnboardingsController } from './onboardings.controller.js';
import { Onboardings } from './onboardings.service.js';

export interface AppOptions {
  readonly databaseUrl: string;
  /** Of how many mails, the first ones, the relay's answer is lost on purpose. */
  readonly lostAnswers: number;
}

@Module({})
export class AppModule {
  static register({ databaseUrl, lostAnswers }: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: databaseUrl,
          autoLoadEntities: true,
          // The app's own table only; the engine's come by its migrations.
          synchronize: true,
        }),
        TypeOrmModule.forFeature([MailEntity]),
        // Strict: a second start for the same address with another plan is refused, not answered with the first.
        WorkflowModule.forRoot({ migrations: 'run', idempotency: { strict: true }, shutdownGrace: '5s' }),
      ],
      controllers: [OnboardingsController, MailsController],
      providers: [
        Onboarding,
        Welcome,
        CompleteProfile,
        SignOff,
        StartBilling,
        Finish,
        Billing,
        OpenAccount,
        FirstPayment,
        Onboardings,
        MailService,
        PaymentProvider,
        { provide: LostAnswers, useFactory: () => new LostAnswers(lostAnswers) },
      ],
    };
  }
}
