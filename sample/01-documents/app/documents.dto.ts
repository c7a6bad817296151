import { ApiProperty } from '@nestjs/swagger';

export class DocumentDto {
  @ApiProperty({ example: 'eng' })
  readonly id!: string;

  @ApiProperty({ example: 'English' })
  readonly name!: string;

  @ApiProperty({ enum: ['declaration', 'empty', 'not-utf8', 'very-large'] })
  readonly kind!: string;

  @ApiProperty({ example: 'en', description: 'BCP 47; und when nobody knows' })
  readonly declaredLanguage!: string;
}

export class StartedRunDto {
  @ApiProperty({ format: 'uuid' })
  readonly runId!: string;

  @ApiProperty({ description: 'False when an earlier request with the same Idempotency-Key had started the run' })
  readonly created!: boolean;
}
