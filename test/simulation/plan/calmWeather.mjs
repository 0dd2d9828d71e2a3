/** Weather without faults, and hardly a delay. */
export const calmWeather = {
  messageUnanswered: 0,
  messageLost: 0,
  connectionCut: 0,
  statementRefused: 0,
  statementApplied: 0,
  statementTorn: 0,
  statementUnanswered: 0,
  nodeRefused: 0,
  nodeUnanswered: 0,
  nodeGateway: 0,
  nodeError: 0,
  nodeLie: 0,
  nodeShuffled: 0,
  nodeLagBlocks: 0,
  latencyMsMax: 4,
};
