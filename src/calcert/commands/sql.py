"""``calcert sql``: the query that summarises a table inside its own database."""

from __future__ import annotations

import click

from calcert.commands import options

DIALECTS = ("duckdb", "postgres", "spark", "bigquery", "snowflake", "trino")


@click.command(
    short_help="Print a query that summarises a table in its database.",
    epilog="""\b
Examples:
  calcert sql predictions --score p --label y --dialect postgres
  calcert sql predictions --score p --label y --dialect postgres | psql --csv shop > cells.csv
  calcert certify cells.csv
  calcert sql '(SELECT * FROM scored WHERE day = 7) AS t' --score '1/(1+EXP(-z))' --label won --dialect snowflake
""",
)
@click.argument("table")
@click.option("--score", required=True, metavar="SQL", help="Column of scores in [0, 1], or an expression.")
@click.option("--label", required=True, metavar="SQL", help="Column of labels, 0/1 or boolean, or an expression.")
@click.option("--dialect", required=True, type=click.Choice(DIALECTS), help="The database's kind of SQL.")
@options.debug.option
def command(table: str, score: str, label: str, dialect: str) -> None:
    """Print the query that summarises TABLE where it is: no driver, no rows on the wire.

    Save what the query returns as CSV and pass it to `calcert certify`, `check`, `plan` or `bandwidth`; they recognise
    it by its columns. The certificates are the same to the last bit as for the rows themselves. Rows without a valid
    score or label are counted too and refused then, so that nothing is dropped in silence.
    """
    from calcert.sources.sql_text import sql

    click.echo(sql(table, score, label, dialect), nl=False)
