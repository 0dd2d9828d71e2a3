import type { Mutation } from './buildSimulator.mjs';

export const mutations: readonly Mutation[];
