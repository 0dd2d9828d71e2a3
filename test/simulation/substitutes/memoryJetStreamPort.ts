import { currentWorld, type World } from '../world/currentWorld.ts';

export const openJetStream: World['openJetStream'] = (settings) => currentWorld().openJetStream(settings);
