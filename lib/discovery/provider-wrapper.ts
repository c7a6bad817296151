import type { InjectionToken } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { readSafely } from '../engine/codec/read-safely.js';

/** Nest's record of one provider in one module. Its class is no part of Nest's public face, so it is named by where it comes from. */
export type ProviderWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Nest's record of one module. */
export type HostModule = NonNullable<ProviderWrapper['host']>;

/** A provider that stands for a class of ours. */
export interface FoundProvider {
  /** The class whose decorator counts. The instance may be of another: a subclass, or whatever a test put in its place. */
  readonly type: Function;
  readonly token: InjectionToken;
  readonly wrapper: ProviderWrapper;
  /** Class and module, as complaints name it: `ExtractText (AppModule)`. */
  readonly place: string;
}

/** The classes that a provider may be known by, the most telling first: its own, its instance's, its token. */
export function classesOf(wrapper: ProviderWrapper): Function[] {
  // The metatype of a factory provider is the factory.
  const own = wrapper.inject ? undefined : wrapper.metatype;
  return [own, constructorOf(wrapper), wrapper.token].filter((value): value is Function => typeof value === 'function');
}

/** Null where the instance is made anew for every context. */
export function singletonOf(wrapper: ProviderWrapper): object | null {
  if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) return null;
  const instance: unknown = wrapper.instance;
  return typeof instance === 'object' || typeof instance === 'function' ? instance : null;
}

/** A value of null, as tests and optional features put in the place of a provider: there is nobody to call. */
export function isEmpty(wrapper: ProviderWrapper): boolean {
  return !wrapper.isTransient && wrapper.isDependencyTreeStatic() && (wrapper.instance ?? null) === null;
}

/** Whether the provider has a method of this name, as far as it can be seen without making an instance. */
export function hasMethod(provider: FoundProvider, name: string): boolean {
  const seen: unknown = singletonOf(provider.wrapper) ?? classesOf(provider.wrapper)[0]?.prototype;
  return typeof readSafely(seen, name) === 'function';
}

function constructorOf(wrapper: ProviderWrapper): unknown {
  return readSafely(wrapper.instance, 'constructor');
}
