import { createHash } from 'node:crypto';
import { type Address, concat, type Hex, type TransactionSerializable, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** A transaction that a node is asked to send. */
export interface SentTransaction {
  readonly from: Address;
  /** Undefined or null to create a contract. */
  readonly to?: Address | null;
  readonly data?: Hex;
  readonly value?: Hex;
  readonly gas?: Hex;
}

type Account = ReturnType<typeof createAccount>;

export function createAccount(index: number) {
  return privateKeyToAccount(toHex(index + 1, { size: 32 }));
}

const gwei = 10n ** 9n;
const accessList = [
  { address: toHex(1, { size: 20 }), storageKeys: [toHex(0, { size: 32 }), toHex(9, { size: 32 })] },
];

/** A blob of zeros is the polynomial zero: its commitment and its proof are the point at infinity. */
const infinity = `0xc0${'0'.repeat(94)}` as const;
const emptyBlob = { blob: toHex(0, { size: 131_072 }), commitment: infinity, proof: infinity };
const blobVersionedHash = concat([
  '0x01',
  `0x${createHash('sha256')
    .update(Buffer.from(infinity.slice(2), 'hex'))
    .digest('hex')
    .slice(2)}`,
]);

interface TransactionSignerOptions {
  readonly chainId: number;
  /** Delegates to each contract that a transaction of type 4 calls. */
  readonly delegating: Account;
  /** Nonce of the delegating account on the chain. */
  readonly readDelegatingNonce: () => Promise<number>;
}

/** Signs transactions of all types in turn, with the blobs of type 3. */
export function createTransactionSigner(options: TransactionSignerOptions) {
  const { chainId, delegating, readDelegatingNonce } = options;
  let turn = 0;

  async function chooseType(to: Address | null): Promise<TransactionSerializable> {
    const fees = { chainId, maxFeePerGas: 1_000n * gwei, maxPriorityFeePerGas: 1n };
    const types: (() => Promise<TransactionSerializable> | TransactionSerializable)[] = [
      () => ({ type: 'legacy', chainId, gasPrice: 1_000n * gwei }),
      // Without a chain ID, as before EIP-155.
      () => ({ type: 'legacy', gasPrice: 1_000n * gwei }),
      () => ({ type: 'eip2930', chainId, gasPrice: 1_000n * gwei, accessList }),
      () => ({ type: 'eip1559', ...fees, accessList }),
    ];
    if (to !== null) {
      types.push(
        () => ({
          type: 'eip4844',
          ...fees,
          to,
          maxFeePerBlobGas: 1_000n * gwei,
          blobVersionedHashes: [blobVersionedHash],
          sidecars: [emptyBlob],
        }),
        async () => {
          const nonce = await readDelegatingNonce();
          const authorization = await delegating.signAuthorization({ contractAddress: to, chainId, nonce });
          return { type: 'eip7702', ...fees, authorizationList: [authorization] };
        },
      );
    }
    return (types[turn++ % types.length] as (typeof types)[number])();
  }

  return async (account: Account, nonce: number, sent: SentTransaction): Promise<Hex> => {
    const { to = null, data, value = '0x0', gas = toHex(8_000_000) } = sent;
    const type = await chooseType(to);
    return account.signTransaction({
      ...type,
      nonce,
      to,
      data,
      value: BigInt(value),
      gas: BigInt(gas),
    } as never);
  };
}
