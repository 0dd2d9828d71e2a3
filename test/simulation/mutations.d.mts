import type { Mutation } from './build.mjs';

export const mutations: readonly Mutation[];
