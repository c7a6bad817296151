import { ApiPropertyOptional } from '@nestjs/swagger';

const STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;

export class ListRunsDto {
  @ApiPropertyOptional({ enum: STATUSES })
  readonly status?: (typeof STATUSES)[number];

  @ApiPropertyOptional({ description: 'From 1 to 500', default: 50 })
  readonly limit?: string;

  @ApiPropertyOptional({ description: 'The cursor of the page before' })
  readonly cursor?: string;
}

export class CancelRunDto {
  @ApiPropertyOptional({ example: 'no longer needed' })
  readonly reason?: string;
}
