import { usePage } from './pageContext.ts';
import { Age } from './Time.tsx';

export function Problems() {
  const { problems } = usePage();
  if (problems.length === 0) return null;
  return (
    <section class="banner" aria-label="What does not work">
      <ul>
        {problems.map(({ title, meaning, last }) => (
          <li key={title}>
            <strong>{title}.</strong> {meaning}
            {last !== null && (
              <>
                {' '}
                <span class="nowrap">
                  ({last[0]}: <Age of={last[1]} />)
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
      <a href="/status">Status of all parts</a>
    </section>
  );
}
