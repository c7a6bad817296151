import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { DataSourceNotFoundError } from '../errors/index.js';
import type { StorageRequest } from './engine-storage.js';

/**
 * The host's DataSource: the object given, or the provider of the name given.
 *
 * @throws DataSourceNotFoundError naming those that there are
 */
export function findDataSource({ options: { dataSource }, moduleRef, modules }: StorageRequest): DataSource {
  if (typeof dataSource === 'object' && dataSource !== null) return dataSource as unknown as DataSource;
  const token = dataSource === null ? getDataSourceToken() : getDataSourceToken(dataSource);
  try {
    return moduleRef.get<DataSource>(token as string, { strict: false });
  } catch {
    const known = new Set<string>();
    for (const module of modules.values()) {
      for (const [name, { instance }] of module.providers) if (isDataSource(instance)) known.add(shownName(name));
    }
    throw new DataSourceNotFoundError({ dataSource: dataSource ?? undefined, known: [...known] });
  }
}

function isDataSource(instance: unknown): boolean {
  if (typeof instance !== 'object' || instance === null) return false;
  return 'isInitialized' in instance && 'driver' in instance && 'options' in instance;
}

function shownName(token: unknown): string {
  return typeof token === 'string' ? token.replace(/DataSource$/, '') : 'the unnamed one';
}
