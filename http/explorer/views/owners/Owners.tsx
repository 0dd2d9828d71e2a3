import { useState } from 'preact/hooks';
import { Banner } from '../../components/Banner.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Available } from '../../components/ResourceNotice.tsx';
import { noAddress } from '../../place.ts';
import { activityPath, corePath, portfolioPath } from '../../resources.ts';
import { OwnerActivity } from './OwnerActivity.tsx';
import { Positions } from './Positions.tsx';

const addressPattern = /^0x[0-9a-fA-F]{40}$/;

/** An owner's miners, earnings and activity. */
export function Owners({ address }: { address: string | null }) {
  return (
    <>
      <section aria-labelledby="owners">
        <h1 id="owners">Owners</h1>
        <p class="lead">
          Miners are positions that share in what is minted, by their weight. Look up whom they belong to.
        </p>
        <Search address={address} key={address ?? ''} />
      </section>
      {address !== null && addressPattern.test(address) && <Owner address={address} />}
    </>
  );
}

function Search({ address }: { address: string | null }) {
  const { actions } = usePage();
  const [text, setText] = useState(address ?? '');
  const problem = address === null ? null : findProblem(address);
  return (
    <form
      class="search"
      action="/owners"
      method="get"
      onSubmit={(event) => {
        if (actions === null) return;
        event.preventDefault();
        if (text.trim() !== '') actions.go({ view: 'owners', address: text.trim() });
      }}
    >
      <label for="address" class="small quiet">
        Address of an owner
      </label>
      <div class="search-row">
        <input
          id="address"
          name="address"
          type="text"
          inputMode="text"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          placeholder="0x…"
          value={text}
          aria-describedby={problem === null ? undefined : 'address-problem'}
          aria-invalid={problem !== null}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Look up</button>
      </div>
      {problem !== null && (
        <p id="address-problem" class="problem">
          {problem}
        </p>
      )}
    </form>
  );
}

/** Why a text does not have the form of an address; null if it does. The service checks the checksum. */
function findProblem(text: string): string | null {
  if (addressPattern.test(text)) return null;
  if (text === noAddress)
    return 'This is no address: it has 0x, then 40 digits from 0 to 9 and a to f, with capitals only as its checksum has them.';
  if (!text.startsWith('0x')) return 'An address begins with 0x.';
  const digits = text.slice(2);
  if (!/^[0-9a-fA-F]*$/.test(digits))
    return 'After 0x, an address has only the digits 0 to 9 and the letters a to f.';
  return `An address has 40 characters after 0x; this one has ${digits.length}.`;
}

function Owner({ address }: { address: string }) {
  const { read } = usePage();
  const portfolio = read('portfolio', portfolioPath(address));
  const activity = read('activity', activityPath(address));
  // The core's settled rounds reveal a reorganization, after which the lists are read again.
  read('core', corePath);
  if (portfolio.problem?.code === 'invalid_address') return <Checksum address={address} />;
  return (
    <Available what="Positions" resource={portfolio}>
      {(body) => (
        <>
          <Positions portfolio={body} path={portfolioPath(address)} />
          <OwnerActivity
            activity={activity}
            path={activityPath(address)}
            configuration={body.configuration}
          />
        </>
      )}
    </Available>
  );
}

/** The form is right, but the service refuses the address: its capital letters are a checksum. */
function Checksum({ address }: { address: string }) {
  if (/^0x0{40}$/.test(address))
    return (
      <Banner severity="note" title="Nobody owns the zero address.">
        It stands for nobody where tokens are created.
      </Banner>
    );
  return (
    <Banner severity="warning" title="The checksum is wrong.">
      Capital letters of an address are its checksum, and these do not fit: a character may be mistyped. Copy
      it again, or, if you are sure of every character,{' '}
      <a href={`/owners/${address.toLowerCase()}`}>look it up without its checksum</a>.
    </Banner>
  );
}
