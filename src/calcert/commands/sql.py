"""``calcert sql``: the query that summarises a table inside its own database."""

from __future__ import annotations

import click

from calcert.commands import options
from calcert.commands.option_values import Ratio

DIALECTS = ("duckdb", "postgres", "spark", "bigquery", "snowflake", "trino")


@options.command(
    "Print a query that summarises a table in its database.",
    """
  calcert sql predictions --score p --label y --dialect postgres
  calcert sql predictions --score p --label y --dialect postgres | psql --csv shop > cells.csv
  calcert certify cells.csv
  calcert sql '(SELECT * FROM scored WHERE day = 7) AS t' --score '1/(1+EXP(-z))' --label won --dialect snowflake
  calcert sql predictions --score p --dialect postgres --perturb --odds 1/16
""",
)
@click.argument("table")
@options.option("score", required=True, metavar="SQL", help="Column of scores in [0, 1], or an expression.")
@click.option("--label", metavar="SQL", help="Column of labels, 0/1 or boolean, or an expression.")
@click.option("--clusters", metavar="SQL", help="Column that says which rows belong together, or an expression.")
@click.option("--weights", metavar="SQL", help="Column of weights, whole multiples of --weight-unit, or an expression.")
@click.option("--weight-unit", type=Ratio(), default="1", show_default=True, help="What weights are made of.")
@click.option("--dialect", required=True, type=click.Choice(DIALECTS), help="The database's kind of SQL.")
@click.option("--perturb", is_flag=True, help="Print the query that perturbs: all columns, and the score to deploy.")
@click.option(
    "--odds",
    type=Ratio(),
    default="1/16",
    show_default=True,
    help="How strongly to perturb, with --perturb: the odds of a score are multiplied by tan(pi u/2) to this power.",
)
def command(
    table: str,
    score: str,
    label: str | None,
    clusters: str | None,
    weights: str | None,
    weight_unit: float,
    dialect: str,
    perturb: bool,
    odds: float,
) -> None:
    """Print the query that summarises TABLE where it is: no driver, no rows on the wire.

    Save what the query returns as CSV and pass it to `calcert certify`, `check`, `plan` or `research noise-costs`; they
    recognise it by its columns. The certificates are the same to the last bit as for the rows themselves. Rows
    without a valid score or label are counted too and refused then, so that nothing is dropped in silence.

    With --perturb the query adds a column `perturbed` to all columns of TABLE: the score to deploy, with fresh noise
    on the odds for every row (duckdb, postgres, spark). Certify the original score with the same noise,
    `--odds`, not that column.
    """
    from calcert.perturbation.noise import perturb_sql
    from calcert.sources.engines.sql_query import summary_query

    if perturb:
        click.echo(f"SELECT *,\n{perturb_sql(score, dialect=dialect, odds=odds)} AS perturbed\nFROM {table}")
        return
    if label is None:
        raise click.UsageError("Missing option '--label': the column of labels, or an expression.")
    click.echo(
        summary_query(table, score, label, dialect, clusters=clusters, weights=weights, weight_unit=weight_unit),
        nl=False,
    )
