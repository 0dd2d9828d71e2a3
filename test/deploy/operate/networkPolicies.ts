import { BlockList } from 'node:net';

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
}

interface Rule {
  readonly from?: readonly RulePeer[];
  readonly to?: readonly RulePeer[];
  readonly ports?: readonly { readonly port: number }[];
}

interface RulePeer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: Selector;
  readonly podSelector?: Selector;
}

export interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

/** One end of a connection: a pod, or an address outside of the cluster. */
export interface Peer {
  /** Null outside of the cluster. */
  readonly namespace: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
}

const ownNamespace = 'miner';

/** Whether the policies of the namespace `miner` allow a TCP connection. Other namespaces have none. */
export function isAllowed(policies: readonly Policy[], from: Peer, to: Peer, port: number): boolean {
  const direction = (type: 'Ingress' | 'Egress', pod: Peer, other: Peer) => {
    const selecting = policies.filter(
      ({ spec }) =>
        pod.namespace === ownNamespace &&
        matches(spec.podSelector, pod.labels) &&
        spec.policyTypes.includes(type),
    );
    // A pod that no policy selects is open.
    if (selecting.length === 0) return true;
    const rules = selecting.flatMap(({ spec }) => (type === 'Ingress' ? spec.ingress : spec.egress) ?? []);
    return rules.some((rule) => {
      const peers = type === 'Ingress' ? rule.from : rule.to;
      const isOfPort = rule.ports === undefined || rule.ports.some((one) => one.port === port);
      return isOfPort && (peers === undefined || peers.some((peer) => isPeer(peer, other)));
    });
  };
  return direction('Egress', from, to) && direction('Ingress', to, from);
}

function isPeer(
  { ipBlock, namespaceSelector, podSelector }: RulePeer,
  { namespace, labels, address }: Peer,
): boolean {
  if (ipBlock !== undefined)
    return isWithin(address, ipBlock.cidr) && !(ipBlock.except ?? []).some((cidr) => isWithin(address, cidr));
  if (namespace === null) return false;
  const isOfNamespace =
    namespaceSelector === undefined
      ? namespace === ownNamespace
      : matches(namespaceSelector, { 'kubernetes.io/metadata.name': namespace });
  return isOfNamespace && (podSelector === undefined || matches(podSelector, labels));
}

function isWithin(address: string, cidr: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(prefix));
  return list.check(address);
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Peer['labels']): boolean {
  const hasLabels = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    hasLabels &&
    matchExpressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new Error(`no ${operator} in these policies`);
      return values.includes(labels[key] ?? '');
    })
  );
}
