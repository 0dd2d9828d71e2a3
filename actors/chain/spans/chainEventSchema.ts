import type { AbiEvent } from 'viem';
import { z } from 'zod';
import { eventSource } from '../../events/eventSchemas.ts';
import { compileGuard } from '../../schemas/compileSchema.ts';
import { isAddress, isBytes } from '../../schemas/hex.ts';
import { type ChainEvent, contractAbis, contractKinds } from './chainEvent.ts';

const isSource = compileGuard(eventSource);
const isObject = compileGuard(z.object({}));

/** Whether a value is an event of a deployment, by the ABI from which {@link ChainEvent} is derived. */
function isChainEvent(value: unknown): value is ChainEvent {
  if (typeof value !== 'object' || value === null) return false;
  if (!('contract' in value && 'address' in value && 'name' in value && 'args' in value && 'source' in value))
    return false;
  const { contract, address: at, name, args, source } = value;
  const kind = contractKinds.find((known) => known === contract);
  if (kind === undefined || typeof at !== 'string' || !isAddress(at) || !isSource(source)) return false;
  const event = contractAbis[kind].find((item) => item.type === 'event' && item.name === name);
  if (event?.type !== 'event' || !isObject(args)) return false;
  const { inputs }: AbiEvent = event;
  const values = new Map<string, unknown>(Object.entries(args));
  return (
    inputs.length === values.size && inputs.every(({ type, name }) => isOfType(type, values.get(name ?? '')))
  );
}

/** Whether a value has the form that viem decodes parameters of the type to. Ranges and lengths are not checked. No event logs only the hash of a parameter. */
function isOfType(type: string, value: unknown): boolean {
  const items = /^(.+)\[\d*\]$/.exec(type)?.[1];
  if (items !== undefined) return Array.isArray(value) && value.every((item) => isOfType(items, item));
  const bits = /^u?int(\d+)$/.exec(type)?.[1];
  // viem decodes up to 48 bits as a number.
  if (bits !== undefined) return Number(bits) > 48 ? typeof value === 'bigint' : Number.isSafeInteger(value);
  if (type === 'bool') return typeof value === 'boolean';
  if (type === 'string') return typeof value === 'string';
  if (type === 'address') return typeof value === 'string' && isAddress(value.toLowerCase());
  if (type.startsWith('bytes')) return typeof value === 'string' && isBytes(value);
  throw new Error(`no event of a deployment has a parameter of type ${type}`);
}

export const chainEvent = z.custom<ChainEvent>(isChainEvent, 'expected an event of a deployment');
